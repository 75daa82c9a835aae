import { adjust } from './navigation.js';
import { ObjectView } from './object-view.js';
import type { ObjectRoute } from './routes.js';

/** One object, on a page of its own. */
export function ObjectPage({ route }: { readonly route: ObjectRoute }) {
  return <ObjectView route={route} show={(tab) => adjust({ page: 'object', ...route, tab })} />;
}
