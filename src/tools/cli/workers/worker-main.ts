import { Socket } from 'node:net';
import { OptionsError } from '../../../base/config/options-error.js';
import { type Running, stopLimit } from '../../../base/machinery/lifecycle.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import { Logger } from '../../../base/observability/logger.js';
import { Metrics } from '../../../base/observability/metrics.js';
import { limitStart } from '../../../base/process/engine-phases.js';
import { FLOW_CONTROL, type FlowControl } from '../../../server/flow-control/flow-control.js';
import { flowTable } from '../../../server/flow-control/flow-dumps.js';
import { keepIdleMemorySmall } from '../idle-memory.js';
import { LastResort } from '../last-resort.js';
import { ParentLink } from './parent-link.js';
import { hubDescriptor, type ParentMessage } from './worker-messages.js';

/*
 * A worker process: serves with the options its parent sends, until the parent stops it. Ctrl-C reaches the whole
 * process group, so the worker leaves it to the parent. SIGTERM to a worker alone ends that worker in an orderly way.
 * When the parent is gone, Node's cluster module ends the process.
 */

/**
 * How long the process may outlive its stop, in milliseconds: everything has stopped by then, and what still keeps it
 * alive is not worth waiting for.
 */
const lingerMs = 5_000;

const link = new ParentLink(process);
keepIdleMemorySmall();
limitStart();
/** The stream to the parent, which has the connections to the database. */
const hub = new Socket({ fd: hubDescriptor });
let starting: Promise<Running | undefined> | undefined;
let isStopping = false;
/** How long this worker may take to stop before it exits anyway, in milliseconds. */
let limitMs = stopLimit();
const stopping = new AbortController();
const lastResort = new LastResort({ stop: () => void stopFaulty(), exit: (code) => process.exit(code) });

async function start(message: Extract<ParentMessage, { type: 'start' }>): Promise<Running | undefined> {
  const { logLevel, logFormat } = message.options.logging;
  limitMs = stopLimit(message.options.api);
  lastResort.logTo(new Logger(logLevel, logFormat, undefined, { worker: message.index }));
  try {
    const [{ serveAlone }, { HttpListener }, { HubDatabase }] = await Promise.all([
      import('../serving.js'),
      import('../../../server/endpoints/http-listener.js'),
      import('../../../storage/hub/hub-database.js'),
    ]);
    const server = await serveAlone(message.options, {
      isFirst: message.isFirst,
      openDatabase: (options, events) =>
        new HubDatabase(hub, options, events, message.options.secureServing.workersReadDirectly),
      worker: {
        index: message.index,
        gatherMetrics: (page, form) => link.gather({ page, form }),
        gatherFlows: (page) => link.gatherFlows(page),
      },
      signal: stopping.signal,
    });
    link.onSpread(() => server.get(HttpListener).spreadConnections());
    link.onCollect(({ page, form }) => server.get(Metrics).families(page, form));
    const flows = server.get<FlowControl | undefined>(FLOW_CONTROL);
    if (flows !== undefined) link.onCollectFlows((page) => flowTable(page, flows.levels()));
    link.send({ type: 'ready', url: server.url });
    return server;
  } catch (error) {
    process.exitCode = 1;
    const problems = error instanceof OptionsError ? error.problems : undefined;
    link.send({ type: 'failed', reason: errorText(error).replaceAll(/\s*\n\s*/g, ' '), problems });
    link.close();
    hub.destroy();
    return undefined;
  }
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  setTimeout(() => process.exit(1), limitMs).unref();
  stopping.abort();
  try {
    await (await starting)?.stop();
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`plinth: could not stop cleanly: ${errorText(error)}\n`);
  }
  link.close();
  setTimeout(() => process.exit(), lingerMs).unref();
}

/** Stops after a fault; the parent starts another worker in its place. */
function stopFaulty(): Promise<void> {
  process.exitCode = 1;
  return stop();
}

process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
process.on('SIGTERM', () => void stop());
link.onStart((message) => {
  starting ??= start(message);
});
link.onStop(() => void stop());
