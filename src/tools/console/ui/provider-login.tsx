import { basePath } from './base-path.js';

/** Where the provider sends the browser back to. */
const callbackPath = `${basePath}/console/oidc/callback`;
const flowName = `plinth-console-oidc${basePath}`;

/** What the page keeps while the browser is at the provider: its half of the secrets, and what was shown before. */
interface Flow {
  readonly key: string;
  readonly fragment: string;
}

/** The query with which the provider has sent the browser back here; undefined when it has not. */
export function providerAnswer(): string | undefined {
  return location.pathname === callbackPath ? location.search : undefined;
}

/** Goes to the provider. The present page is shown again after the login. */
export function leaveFor(url: string, key: string): void {
  const flow: Flow = { key, fragment: location.hash };
  sessionStorage.setItem(flowName, JSON.stringify(flow));
  location.assign(url);
}

/** The login that was under way, which counts once. The address becomes what was shown before it, without the code. */
export function takeFlow(): Flow | undefined {
  const text = sessionStorage.getItem(flowName);
  sessionStorage.removeItem(flowName);
  const flow = text === null ? undefined : (JSON.parse(text) as Flow);
  history.replaceState(null, '', `${basePath}/${flow?.fragment ?? ''}`);
  return flow;
}
