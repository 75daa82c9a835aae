import type { PodManager } from '../pod-manager.js';
import { isRunning, usableSandbox } from '../pods/runtime-pod.js';
import type { RuntimeView } from '../pods/runtime-view.js';
import type { ShutdownTimes } from '../shutdown/shutdown-record.js';

/** The text of `/metrics`: metrics of the agent itself. */
export async function agentMetrics({
  manager,
  view,
  nodeName,
  shutdownTimes,
}: {
  readonly manager: PodManager;
  readonly view: RuntimeView;
  readonly nodeName: string;
  readonly shutdownTimes: () => ShutdownTimes;
}): Promise<string> {
  const states = { created: 0, running: 0, exited: 0 };
  let sandboxes = 0;
  for (const { uid, namespace, name } of view.pods()) {
    const pod = await view.read(uid, namespace, name);
    if (usableSandbox(pod) !== undefined) sandboxes += 1;
    for (const run of pod.containers) {
      if (isRunning(run)) states.running += 1;
      else if (run.state === 0) states.created += 1;
      else states.exited += 1;
    }
  }
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const { start, end } = shutdownTimes();
  const lines = [
    ['kubelet_node_name', 'gauge', `{node="${nodeName}"}`, 1, 'The name of the node.'],
    ['kubelet_desired_pods', 'gauge', '{static=""}', manager.uids().length, 'Pods that the agent should run.'],
    ['kubelet_running_pods', 'gauge', '', sandboxes, 'Pods that have a sandbox that runs.'],
    ['kubelet_graceful_shutdown_start_time_seconds', 'gauge', '', start, 'When the machine last began to shut down.'],
    ['kubelet_graceful_shutdown_end_time_seconds', 'gauge', '', end, 'When its pods had ended.'],
    ['process_resident_memory_bytes', 'gauge', '', rss, 'Memory of the process.'],
    ['nodejs_heap_size_used_bytes', 'gauge', '', heapUsed, 'Memory of objects of the process.'],
    ['process_cpu_seconds_total', 'counter', '', (user + system) / 1e6, 'Processor time of the process.'],
  ].flatMap(([name, type, labels, value, help]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    `${name}${labels} ${value}`,
  ]);
  lines.push(
    '# HELP kubelet_running_containers Containers by their state.',
    '# TYPE kubelet_running_containers gauge',
    ...Object.entries(states).map(
      ([state, count]) => `kubelet_running_containers{container_state="${state}"} ${count}`,
    ),
  );
  return `${lines.join('\n')}\n`;
}
