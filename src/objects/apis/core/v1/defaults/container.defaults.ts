import type { Container, EphemeralContainer } from '../container.types.js';
import type { LifecycleHandler, Probe } from '../probe.types.js';
import { roundResources } from './resources.defaults.js';

/** Fills the defaults of a container of a pod or pod template. Changes `container`. */
export function applyContainerDefaults(container: Container | EphemeralContainer): void {
  if (!container.imagePullPolicy) {
    container.imagePullPolicy = imageTag(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  }
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const variable of container.env ?? []) {
    const fieldRef = variable.valueFrom?.fieldRef;
    if (fieldRef !== undefined) fieldRef.apiVersion ||= 'v1';
    const fileKeyRef = variable.valueFrom?.fileKeyRef;
    if (fileKeyRef !== undefined) fileKeyRef.optional ??= false;
  }
  roundResources(container.resources.limits);
  roundResources(container.resources.requests);
  applyProbeDefaults(container.livenessProbe);
  applyProbeDefaults(container.readinessProbe);
  applyProbeDefaults(container.startupProbe);
  applyHandlerDefaults(container.lifecycle?.postStart);
  applyHandlerDefaults(container.lifecycle?.preStop);
}

function applyProbeDefaults(probe: Probe | undefined): void {
  if (probe === undefined) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  applyHandlerDefaults(probe);
  if (probe.grpc !== undefined) probe.grpc.service ??= '';
}

function applyHandlerDefaults(handler: Pick<LifecycleHandler, 'httpGet'> | undefined): void {
  const httpGet = handler?.httpGet;
  if (httpGet === undefined) return;
  httpGet.path ||= '/';
  httpGet.scheme ||= 'HTTP';
}

const longestImageName = 255;
const imageCharacters = /^[A-Za-z0-9._\-/:@+[\]]+$/;

/**
 * The tag of an image reference: `latest` when it has neither tag nor digest, empty when it has only a digest or is not
 * a valid reference.
 */
export function imageTag(image: string): string {
  if (!imageCharacters.test(image)) return '';
  const at = image.indexOf('@');
  const named = at < 0 ? image : image.slice(0, at);
  const slash = named.lastIndexOf('/');
  const colon = named.lastIndexOf(':');
  const tag = colon > slash ? named.slice(colon + 1) : '';
  const name = colon > slash ? named.slice(0, colon) : named;
  if (name.length > longestImageName || !isImageName(name)) return '';
  if (colon > slash && !/^\w[\w.-]{0,127}$/.test(tag)) return '';
  return tag === '' && at < 0 ? 'latest' : tag;
}

const pathComponent = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*$/;

function isImageName(name: string): boolean {
  const parts = name.split('/');
  const first = parts[0] as string;
  const hasDomain = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  return (hasDomain ? parts.slice(1) : parts).every((part) => pathComponent.test(part));
}
