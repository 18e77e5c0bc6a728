// What a user sees and does, with screenshots that go into the documentation
// (docs/images; they are rewritten with --update).
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { extension, start } from './vscode.mjs';

const update = process.argv.includes('--update');
const failures = join(extension, '..', '..', 'build', 'images');
const images = update ? join(extension, '..', '..', 'docs', 'images') : failures;

/** ui runs every step in one window and returns how many failed. */
export async function ui() {
  for (const folder of [images, failures]) mkdirSync(folder, { recursive: true });
  const vscode = await start('vscode-ui', { settings: { 'kaiak.engine': 'auto', 'workbench.colorTheme': 'Default Light Modern' } });
  let failed = 0;
  let page;
  const shot = (name) => page.screenshot({ path: join(images, `${name}.png`) });
  const step = async (name, run) => {
    try {
      await run();
      console.log(`ok    ui: ${name}`);
    } catch (err) {
      failed++;
      console.log(`FAIL  ui: ${name}: ${err.message.split('\n').slice(0, 4).join(' ')}`);
      await page?.screenshot({ path: join(failures, `failed-${failed}.png`) });
      await page?.keyboard.press('Escape');
    }
  };
  /** choose types into the open quick input and takes the row with exactly that label. */
  const choose = async (input, label) => {
    await page.fill(input, label);
    await page.click(`.quick-input-list .monaco-list-row:is([aria-label="${label}"], [aria-label^="${label},"])`);
  };
  /** command runs a command of the palette by its title. */
  const command = async (title) => {
    await page.keyboard.press('F1');
    const input = '.quick-input-widget input[aria-controls^="quickInput_list"], .quick-input-widget .quick-input-box input';
    await page.waitForSelector(input);
    await page.fill(input, `>${title}`);
    await page.click(`.quick-input-list .monaco-list-row:is([aria-label="${title}"], [aria-label^="${title},"])`);
  };
  const theme = async (name, kind) => {
    await command('Preferences: Color Theme');
    await choose('.quick-input-widget input[placeholder*="Color Theme"]', name);
    await page.waitForSelector(`.monaco-workbench.${kind}`);
    await page.waitForSelector('.quick-input-widget', { state: 'hidden' });
  };
  const lens = (title) => `.codelens-decoration a:has-text("${title}")`;
  /** line waits for a line of an editor that contains a text. */
  const line = (text) => page.waitForFunction(
    (want) => [...document.querySelectorAll('.view-line')].some((l) => l.textContent.replaceAll('\u00a0', ' ').includes(want)), text);
  const row = (label) => `.pane-body .monaco-list-row[aria-label*="${label}"]`;

  try {
    page = await vscode.page([['openFile', vscode.remote(`${vscode.workspace}/Review.java`)]]);
    await step('an incident is underlined', async () => {
      await page.waitForSelector('.monaco-editor .squiggly-warning, .monaco-editor .squiggly-error, .monaco-editor .squiggly-info', { timeout: 60_000 });
    });
    await step('the incidents view lists it', async () => {
      await page.click('.activitybar [aria-label^="Kaiak"]');
      await page.click(row('Review.java'));
      await page.keyboard.press('ArrowRight');
      await page.waitForSelector('.pane-body .monaco-list-row[aria-level="2"]');
      await page.mouse.move(800, 600);
      await shot('vscode-incidents');
    });
    await step('the quick fixes are offered', async () => {
      await page.click('.view-line:has-text("persistence.Entity")');
      await page.keyboard.press('Home');
      await page.keyboard.press('F8');
      await page.waitForSelector('.zone-widget');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+.');
      await page.waitForSelector('.action-widget .monaco-list-row');
      await shot('vscode-quickfix');
      await page.keyboard.press('Escape');
    });
    await step('fixing a file asks for review', async () => {
      await command('Kaiak: Fix All in This File');
      await page.waitForSelector(lens('Accept'), { timeout: 60_000 });
      await page.waitForSelector('.notification-toast', { state: 'hidden' });
      await page.click('.view-line:has-text("public class")');
      await shot('vscode-review');
    });
    for (const [name, kind, file] of [['Dark Modern', 'vs-dark', 'dark'], ['Dark High Contrast', 'hc-black', 'contrast'], ['Light High Contrast', 'hc-light', 'contrast-light'], ['Light Modern', 'vs', '']]) {
      await step(`review in ${name}`, async () => {
        await theme(name, kind);
        if (file) await shot(`vscode-review-${file}`);
      });
    }
    await step('both sides are shown, and the proposed one can be edited', async () => {
      await page.click(lens('jakarta-ee9-packages'));
      await page.waitForSelector('.monaco-diff-editor .editor.modified .view-line:has-text("jakarta")');
      await page.click('.monaco-diff-editor .editor.modified .view-line:has-text("public class")');
      await page.keyboard.press('Home');
      await page.keyboard.type('/* reviewed */');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Control+s');
      await page.waitForSelector('.pane-body .monaco-list-row:has-text("edited by you")');
      await shot('vscode-diff');
    });
    await step('accept applies the text as it was edited', async () => {
      await page.click('.tab:has-text("proposed") .codicon-close');
      await page.click(lens('Accept as Edited'));
      await line('/* reviewed */');
      await line('import jakarta.');
      await shot('vscode-accepted');
    });
    await step('a question of the model is answered', async () => {
      await page.close();
      page = await vscode.page([['openFile', vscode.remote(`${vscode.workspace}/ask.go`)]]);
      await page.waitForSelector('.monaco-editor .squiggly-warning', { timeout: 60_000 });
      await page.click('.activitybar [aria-label^="Kaiak"]');
      await line('legacy.Multiply');
      await page.waitForSelector(row('ask.go'));
      await command('Kaiak: Fix All in This File');
      await page.click('.statusbar-item:has-text("1 to answer")');
      await page.waitForSelector('.quick-input-list .monaco-list-row:has-text("Write it out")');
      await shot('vscode-question');
      await page.keyboard.press('Enter');
      await page.waitForSelector(lens('Accept'));
      await page.mouse.move(800, 600);
      await page.keyboard.press('Escape');
      await page.click('.pane-header[aria-label^="Activity"]');
      await page.waitForSelector('.pane-body .monaco-list-row:has-text("tokens")');
      await page.mouse.move(800, 600);
      await shot('vscode-model');
    });
  } finally {
    await vscode.stop();
  }
  return failed;
}
