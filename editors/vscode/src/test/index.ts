// Entry of the tests that run inside the extension host.
export { run } from './runner';
