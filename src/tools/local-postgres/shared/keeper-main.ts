import { errorText } from '../../../base/machinery/startup-error.js';
import { StopSignals } from '../../../base/machinery/stop-signals.js';
import { Logger } from '../../../base/observability/logger.js';
import { runKeeper } from './keeper.js';
import { keeperPlace } from './keeper-place.js';

/* The process that runs the shared Postgres. Arguments: how many milliseconds it stays after its last user. */

const [lingerMs] = process.argv.slice(2);
const signals = new StopSignals(() => process.exit(1));
try {
  await runKeeper({
    place: await keeperPlace(),
    logger: new Logger('info'),
    lingerMs: Number(lingerMs),
    signal: signals.signal,
  });
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 1;
} finally {
  signals.release();
}
