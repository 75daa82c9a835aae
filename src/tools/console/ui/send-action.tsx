import type { ActionRequest } from './actions.js';
import { exactJson } from './exact-json.js';
import { api } from './session.js';

/** Sends the request of an action as the user. Resolves with the answer. */
export function sendAction({ method, path, contentType, body }: ActionRequest): Promise<string> {
  const query = new URLSearchParams({ fieldManager: 'plinth-console' });
  return api.text(`${path}?${query}`, { method, contentType, body: exactJson(body) });
}
