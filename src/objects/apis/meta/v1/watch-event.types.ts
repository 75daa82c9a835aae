import { type Infer, rawExtension, required, string, struct } from '../../../../base/machinery/schema/index.js';

export const watchEvent = struct(
  'meta.v1.WatchEvent',
  {
    type: required(1, string, { doc: 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.' }),
    object: required(2, rawExtension, { doc: 'The object after the change.' }),
  },
  { doc: 'One change seen by a watch.' },
);
export type WatchEvent = Infer<typeof watchEvent>;
