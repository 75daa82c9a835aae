import { type Infer, rawExtension, required, string, struct } from '../../../machinery/schema/index.js';

export const watchEvent = struct('meta.v1.WatchEvent', {
  type: required(1, string),
  object: required(2, rawExtension),
});
export type WatchEvent = Infer<typeof watchEvent>;
