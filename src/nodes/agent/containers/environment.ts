import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';
import type { Container, EnvVar } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';
import { ContainerConfigError } from './container-config-error.js';
import { expand } from './expand.js';
import { type AddressFields, podFieldValue, resourceFieldValue } from './field-values.js';
import type { StartSize } from './start-size.js';

/** Reads objects that pods refer to. Undefined: the object does not exist. */
export interface EnvironmentReader {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
}

export interface EnvironmentInput extends AddressFields {
  readonly pod: Pod;
  readonly container: Container;
  readonly objects: EnvironmentReader;
  /** Variables of the services that the pod may see. */
  readonly services: ReadonlyMap<string, string>;
  /** The allocatable resources of the node. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** To which the values are added. */
  readonly size: StartSize;
}

/** The environment of a container, in the order of its declaration. @throws ContainerConfigError */
export async function containerEnvironment(input: EnvironmentInput): Promise<Map<string, string>> {
  const { container, services } = input;
  const environment = new Map<string, string>();
  await addSources(input, environment);
  const lookUp = (name: string) => environment.get(name) ?? services.get(name);
  for (const variable of container.env ?? []) {
    const value = await variableValue(input, variable, lookUp);
    if (value === undefined) continue;
    if (variable.valueFrom) input.size.add(value);
    environment.set(variable.name, value);
  }
  for (const [name, value] of services) if (!environment.has(name)) environment.set(name, value);
  return environment;
}

async function addSources({ pod, container, objects, size }: EnvironmentInput, environment: Map<string, string>) {
  const namespace = pod.metadata.namespace ?? '';
  const addEntry = (name: string, value: string) => {
    // Keys that can't be names of variables are left out.
    if (!/^[\x20-\x3c\x3e-\x7e]+$/.test(name)) return;
    size.add(value);
    environment.set(name, value);
  };
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef) {
      const found = await objects.configMap(namespace, configMapRef.name ?? '');
      if (found === undefined && !configMapRef.optional) throw missing('configmap', configMapRef.name ?? '');
      for (const [key, value] of Object.entries(found?.data ?? {})) addEntry(prefix + key, value);
    }
    if (secretRef) {
      const found = await objects.secret(namespace, secretRef.name ?? '');
      if (found === undefined && !secretRef.optional) throw missing('secret', secretRef.name ?? '');
      for (const [key, value] of Object.entries(found?.data ?? {})) {
        addEntry(prefix + key, Buffer.from(value, 'base64').toString('utf8'));
      }
    }
  }
}

function missing(kind: string, name: string): ContainerConfigError {
  return new ContainerConfigError(`${kind} "${name}" not found`);
}

async function variableValue(
  input: EnvironmentInput,
  { value = '', valueFrom }: EnvVar,
  lookUp: (name: string) => string | undefined,
): Promise<string | undefined> {
  if (!valueFrom) return expand(value, lookUp, input.size);
  const { pod, container, objects, allocatable } = input;
  const namespace = pod.metadata.namespace ?? '';
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef) return podFieldValue(pod, fieldRef.fieldPath, input);
  if (resourceFieldRef) {
    const { containerName, resource, divisor } = resourceFieldRef;
    const all = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
    const named = containerName ? all.find(({ name }) => name === containerName) : container;
    if (named === undefined) throw new ContainerConfigError(`container ${containerName} not found`);
    return resourceFieldValue(named, resource, divisor, allocatable);
  }
  if (configMapKeyRef) {
    const { name = '', key, optional } = configMapKeyRef;
    const found = await objects.configMap(namespace, name);
    if (found === undefined && !optional) throw missing('configmap', name);
    const text = found?.data?.[key];
    if (text !== undefined) return text;
    if (optional) return undefined;
    throw new ContainerConfigError(`couldn't find key ${key} in ConfigMap ${namespace}/${name}`);
  }
  if (secretKeyRef) {
    const { name = '', key, optional } = secretKeyRef;
    const found = await objects.secret(namespace, name);
    if (found === undefined && !optional) throw missing('secret', name);
    const encoded = found?.data?.[key];
    if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString('utf8');
    if (optional) return undefined;
    throw new ContainerConfigError(`couldn't find key ${key} in Secret ${namespace}/${name}`);
  }
  throw new ContainerConfigError('a variable refers to something that this node does not support');
}
