// Runs the tests in a real VS Code: those of the extension host first (the
// real API, dist/test/index.js), then those of the user interface.
import { missing, start } from './vscode.mjs';
import { ui } from './ui.mjs';

const absent = missing();
if (absent) {
  console.log(`SKIP  VS Code tests: ${absent} is not set (.ci/tools installs what they need)`);
  process.exit(0);
}

/** window runs one suite of the extension host in a window of its own and returns its exit code. */
async function window(vscode, suite) {
  let done;
  const exit = new Promise((resolve) => { done = resolve; });
  const page = await vscode.page([['extensionTestsPath', vscode.remote(`${vscode.installed}/dist/test/${suite}.js`)]], async (p) => {
    // The host also logs what its own modules miss here; the suite's lines are the ones that matter.
    await p.exposeFunction('codeAutomationLog', (_type, args) => {
      const line = args.join(' ');
      if (/^(ok  |FAIL|note|\d+ passed)/.test(line) || process.env.KAIAK_TEST_VERBOSE) console.log(line);
    });
    await p.exposeFunction('codeAutomationExit', (code) => done(code));
  }, 2);
  page.on('crash', () => done(3));
  const code = await exit;
  await page.close({ runBeforeUnload: true });
  return code;
}

/** host runs the suites one after the other over the same files and the same state. */
async function host() {
  const vscode = await start('vscode-host', { manyFiles: 20 });
  try {
    return (await window(vscode, 'first')) || (await window(vscode, 'second'));
  } finally {
    await vscode.stop();
  }
}

const start0 = Date.now();
const code = process.argv.includes('--ui') ? 0 : await host();
const failed = process.argv.includes('--host') ? 0 : await ui();
console.log(`VS Code: ${Math.round((Date.now() - start0) / 1000)} s`);
process.exit(code || failed ? 1 : 0);
