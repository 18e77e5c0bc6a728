// The first window: everything a user does, and at last a proposal left behind.

import { edited } from './edited';
import { fixes } from './fixes';
import { models } from './models';
import { review } from './review';
import { restart } from './restart';
import { runAll } from './runner';
import { scale } from './scale';
import { stale } from './stale';

export const run = () => runAll([...fixes, ...review, ...stale, ...edited, ...models, ...scale, ...restart]);
