import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { PodManager } from '../pod-manager.js';
import { podUid } from '../pods/pod-form.js';
import { isRunning, type RuntimeContainer, runsOf, usableSandbox } from '../pods/runtime-pod.js';
import type { RuntimeView } from '../pods/runtime-view.js';
import { CallerRefusal } from './caller-refusal.js';

export interface StreamDependencies {
  readonly manager: PodManager;
  readonly runtime: ContainerRuntime;
  readonly view: RuntimeView;
  readonly debugging: boolean;
}

/** Parses `/exec/NAMESPACE/POD[/UID]/CONTAINER`. */
export function containerPlace(path: string): { what: string; namespace: string; name: string; container: string } {
  const [, what = '', namespace = '', name = '', ...rest] = path.split('/').map(decodeURIComponent);
  return { what, namespace, name, container: rest.at(-1) ?? '' };
}

/** The present run of a container. @throws CallerRefusal 404 */
export async function runningContainer(
  { manager, view }: Pick<StreamDependencies, 'manager' | 'view'>,
  namespace: string,
  name: string,
  container: string,
): Promise<RuntimeContainer> {
  const worker = manager.find(namespace, name);
  if (worker === undefined) throw new CallerRefusal(404, `pod does not exist`);
  const runtime = await view.read(podUid(worker.declaration), namespace, name);
  const run = runsOf(runtime, container).find(isRunning);
  if (run === undefined) throw new CallerRefusal(404, `container not found ("${container}")`);
  return run;
}

/** The address on the runtime's own server of the stream that a client requests. @throws CallerRefusal */
export async function openRuntimeStream(dependencies: StreamDependencies, url: URL): Promise<URL> {
  const { manager, runtime, view, debugging } = dependencies;
  const { what, namespace, name, container } = containerPlace(url.pathname);
  const query = url.searchParams;
  const has = (key: string) => query.get(key) === '1' || query.get(key) === 'true';
  if (!debugging || !['exec', 'attach', 'portForward'].includes(what))
    throw new CallerRefusal(404, '404 page not found');
  if (what === 'portForward') {
    const worker = manager.find(namespace, name);
    if (worker === undefined) throw new CallerRefusal(404, 'pod does not exist');
    const sandbox = usableSandbox(await view.read(podUid(worker.declaration), namespace, name));
    if (sandbox === undefined) throw new CallerRefusal(404, `not found ("${name}_${namespace}")`);
    const ports = query.getAll('port').flatMap((text) => text.split(',').map(Number));
    return new URL(await runtime.portForwardUrl(sandbox.id, ports));
  }
  const { id } = await runningContainer(dependencies, namespace, name, container);
  const tty = has('tty');
  const streams = {
    stdin: has('input') || has('stdin'),
    stdout: has('output') || has('stdout'),
    stderr: !tty && (has('error') || has('stderr')),
  };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw new CallerRefusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  const request = { containerId: id, tty, ...streams };
  if (what === 'attach') return new URL(await runtime.attachUrl(request));
  return new URL(await runtime.execUrl({ ...request, cmd: query.getAll('command') }));
}
