// A small runner for tests inside the extension host: each test is a name and
// a function; the first line that fails is what the report shows.

import { suite } from './suite';

export async function run(): Promise<void> {
  const failures: string[] = [];
  for (const [name, test] of suite) {
    const start = Date.now();
    try {
      await test();
      console.log(`ok    ${name} (${Date.now() - start} ms)`);
    } catch (err) {
      failures.push(name);
      console.error(`FAIL  ${name}: ${err instanceof Error ? err.stack ?? err.message : String(err)}`);
    }
  }
  console.log(`${suite.length - failures.length} passed, ${failures.length} failed`);
  if (failures.length > 0) throw new Error(`failed: ${failures.join(', ')}`);
}
