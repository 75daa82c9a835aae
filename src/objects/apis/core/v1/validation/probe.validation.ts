import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isPortName, isPortNumber } from '../../../../../base/machinery/names.js';
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, ProbeHandler } from '../probe.types.js';
import { checkNonNegative } from './common.validation.js';

const headerName = /^[-A-Za-z0-9]+$/;
const headerRule =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

/** Validates a probe, if set. `once`: the success threshold must be 1 (liveness and startup). */
export function validateProbe(probe: Probe | undefined, path: FieldPath, once: boolean, errors: FieldError[]): void {
  if (probe === undefined) return;
  validateHandler(probe, path, errors);
  checkNonNegative(probe.initialDelaySeconds, path.child('initialDelaySeconds'), errors);
  checkNonNegative(probe.timeoutSeconds, path.child('timeoutSeconds'), errors);
  checkNonNegative(probe.periodSeconds, path.child('periodSeconds'), errors);
  checkNonNegative(probe.successThreshold, path.child('successThreshold'), errors);
  checkNonNegative(probe.failureThreshold, path.child('failureThreshold'), errors);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) {
    errors.push(invalid(path.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0'));
  }
  if (once && probe.successThreshold !== 1) {
    errors.push(invalid(path.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1'));
  }
}

/** Validates the hooks of a container, if set. */
export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  graceSeconds: number,
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const hook of ['postStart', 'preStop'] as const) {
    const handler = lifecycle?.[hook];
    if (handler !== undefined) validateHandler(handler, path.child(hook), errors, graceSeconds);
  }
}

type Handler = Pick<ProbeHandler, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & Pick<LifecycleHandler, 'sleep'>;

function validateHandler(handler: Handler, path: FieldPath, errors: FieldError[], graceSeconds = 0): void {
  let count = 0;
  const isFirst = (name: string): boolean => {
    if (count++ === 0) return true;
    errors.push(forbidden(path.child(name), 'may not specify more than 1 handler type'));
    return false;
  };
  if (handler.exec !== undefined && isFirst('exec') && (handler.exec.command ?? []).length === 0) {
    errors.push(required(path.child('exec').child('command')));
  }
  if (handler.httpGet !== undefined && isFirst('httpGet')) {
    validateHttpGet(handler.httpGet, path.child('httpGet'), errors);
  }
  if (handler.tcpSocket !== undefined && isFirst('tcpSocket')) {
    checkPort(handler.tcpSocket.port, path.child('tcpSocket').child('port'), errors);
  }
  if (handler.grpc !== undefined && isFirst('grpc')) {
    checkPort(handler.grpc.port, path.child('grpc').child('port'), errors);
  }
  if (handler.sleep !== undefined && isFirst('sleep')) {
    const { seconds } = handler.sleep;
    if (seconds < 0 || seconds > graceSeconds) {
      const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      errors.push(invalid(path.child('sleep'), seconds, detail));
    }
  }
  if (count === 0) errors.push(required(path, 'must specify a handler type'));
}

function validateHttpGet(action: HTTPGetAction, path: FieldPath, errors: FieldError[]): void {
  if (!action.path) errors.push(required(path.child('path')));
  checkPort(action.port, path.child('port'), errors);
  const scheme = action.scheme ?? '';
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') {
    errors.push(notSupported(path.child('scheme'), scheme, ['HTTP', 'HTTPS']));
  }
  for (const { name } of action.httpHeaders ?? []) {
    if (!headerName.test(name)) errors.push(invalid(path.child('httpHeaders'), name, headerRule));
  }
}

/** Checks a port given by number or by the name of a container port. */
export function checkPort(port: number | string, path: FieldPath, errors: FieldError[]): void {
  const messages = typeof port === 'number' ? isPortNumber(port) : isPortName(port);
  for (const message of messages) errors.push(invalid(path, port, message));
}
