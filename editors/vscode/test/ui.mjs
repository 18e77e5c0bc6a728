// What a user sees and does, with screenshots that go into the documentation
// (docs/images; they are rewritten with --update).
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { extension, start } from './vscode.mjs';

const update = process.argv.includes('--update');
const images = update ? join(extension, '..', '..', 'docs', 'images') : join(extension, '..', '..', 'build', 'images');

/** ui runs every step in one window and returns how many failed. */
export async function ui() {
  mkdirSync(images, { recursive: true });
  const vscode = await start('vscode-ui');
  let failed = 0;
  let page;
  const shot = (name) => page.screenshot({ path: join(images, `${name}.png`) });
  const step = async (name, run) => {
    try {
      await run();
      console.log(`ok    ui: ${name}`);
    } catch (err) {
      failed++;
      console.log(`FAIL  ui: ${name}: ${err.message}`);
      await page?.screenshot({ path: join(images, `failed-${failed}.png`) });
    }
  };
  try {
    page = await vscode.page([['openFile', vscode.remote(`${vscode.workspace}/Review.java`)]]);
    await step('an incident is underlined', async () => {
      await page.waitForSelector('.monaco-editor .squiggly-warning, .monaco-editor .squiggly-error, .monaco-editor .squiggly-info', { timeout: 60_000 });
      await shot('vscode-incident');
    });
    await step('the incidents view lists it', async () => {
      await page.click('.activitybar [aria-label^="Kaiak"]');
      await page.waitForSelector('.pane-body .monaco-list-row[aria-label*="Review.java"]');
      await shot('vscode-incidents');
    });
    await step('fixing the workspace asks for review', async () => {
      await page.keyboard.press('F1');
      await page.waitForSelector('.quick-input-widget input');
      await page.keyboard.type('Kaiak: Fix All in Workspace');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.codelens-decoration a:has-text("Accept")', { timeout: 60_000 });
      await shot('vscode-review');
    });
    await step('accept above a change applies that change', async () => {
      await page.click('.codelens-decoration a:has-text("Accept")');
      await page.waitForFunction(() => [...document.querySelectorAll('.view-line')].some((l) => l.textContent.replaceAll('\u00a0', ' ').includes('import jakarta.')));
      await shot('vscode-accepted');
    });
  } finally {
    await vscode.stop();
  }
  return failed;
}
