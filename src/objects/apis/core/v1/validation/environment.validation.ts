import {
  type FieldError,
  type FieldPath,
  invalid,
  notFound,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import {
  isConfigMapKey,
  isDns1123Label,
  isDns1123Subdomain,
  isEnvVarName,
  isQualifiedName,
} from '../../../../../base/machinery/names.js';
import type { EnvFromSource, EnvVar, EnvVarSource } from '../container.types.js';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../source-selector.types.js';
import { checkNoBacksteps, checkText } from './common.validation.js';
import type { VolumeMap } from './volume-mount.validation.js';

/** Pod fields that environment variables can expose, in the order in which messages list them. */
const environmentFields: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Pod fields that files of a volume can expose. */
export const volumeFields: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Every field name that the API knows, whether it can be exposed or not. */
const knownFields: ReadonlySet<string> = new Set([
  ...environmentFields,
  ...volumeFields,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

const resourceFields: readonly string[] = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

const byteDivisors: readonly string[] = '1 1k 1M 1G 1T 1P 1E 1Ki 1Mi 1Gi 1Ti 1Pi 1Ei'.split(' ');
const byteDivisorList = byteDivisors.join(', ');

/** Validates the environment variables of a container of a pod that has the volumes. */
export function validateEnv(env: readonly EnvVar[], volumes: VolumeMap, path: FieldPath, errors: FieldError[]): void {
  env.forEach((variable, i) => {
    const at = path.index(i);
    if (variable.name === '') errors.push(required(at.child('name')));
    else checkText(variable.name, isEnvVarName, at.child('name'), errors);
    if (variable.valueFrom !== undefined) {
      validateSource(variable.valueFrom, variable.value ?? '', at.child('valueFrom'), errors);
      const { fileKeyRef } = variable.valueFrom;
      if (fileKeyRef !== undefined) {
        checkFileVolume(fileKeyRef.volumeName, volumes, at.child('valueFrom').child('fileKeyRef'), errors);
      }
    }
  });
}

/** Files with variables are in volumes that the containers of the pod share. */
function checkFileVolume(name: string, volumes: VolumeMap, path: FieldPath, errors: FieldError[]): void {
  const volume = volumes.get(name);
  const at = path.child('volumeName');
  if (volume === undefined) errors.push(notFound(at, name));
  else if (volume.emptyDir === undefined) errors.push(invalid(at, name, 'referenced volume must be of type emptyDir'));
}

function validateSource(source: EnvVarSource, value: string, path: FieldPath, errors: FieldError[]): void {
  let count = 0;
  if (source.fieldRef !== undefined) {
    count++;
    validateFieldSelector(source.fieldRef, environmentFields, path.child('fieldRef'), errors);
  }
  if (source.resourceFieldRef !== undefined) {
    count++;
    validateResourceFieldSelector(source.resourceFieldRef, false, path.child('resourceFieldRef'), errors);
  }
  if (source.configMapKeyRef !== undefined) {
    count++;
    validateKeySelector(source.configMapKeyRef, path.child('configMapKeyRef'), errors);
  }
  if (source.secretKeyRef !== undefined) {
    count++;
    validateKeySelector(source.secretKeyRef, path.child('secretKeyRef'), errors);
  }
  if (source.fileKeyRef !== undefined) {
    count++;
    const { key, volumeName, path: file } = source.fileKeyRef;
    const at = path.child('fileKeyRef');
    if (key === '') errors.push(required(at.child('key')));
    else checkText(key, isEnvVarName, at.child('key'), errors);
    if (volumeName === '') errors.push(required(at.child('volumeName')));
    else checkText(volumeName, isDns1123Label, at.child('volumeName'), errors);
    if (file === '') errors.push(required(at.child('path')));
    else checkNoBacksteps(file, at.child('path'), errors);
  }
  if (count === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.push(invalid(path, '', detail));
  } else if (value !== '') {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (count > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  }
}

function validateKeySelector(
  selector: { readonly name?: string; readonly key: string },
  path: FieldPath,
  errors: FieldError[],
): void {
  checkText(selector.name ?? '', isDns1123Subdomain, path.child('name'), errors);
  if (selector.key === '') errors.push(required(path.child('key')));
  else checkText(selector.key, isConfigMapKey, path.child('key'), errors);
}

const subscripted = /^(\w+)\.(\w+)\['(.*)'\]$/;

/** Validates a reference to a field of the pod itself. */
export function validateFieldSelector(
  selector: ObjectFieldSelector,
  shown: readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  const field = selector.fieldPath;
  if (!selector.apiVersion) {
    errors.push(required(path.child('apiVersion')));
    return;
  }
  if (field === '') {
    errors.push(required(path.child('fieldPath')));
    return;
  }
  const fieldPath = path.child('fieldPath');
  if (selector.apiVersion !== 'v1') {
    const detail = `error converting fieldPath: unsupported pod version: ${selector.apiVersion}`;
    errors.push(invalid(fieldPath, field, detail));
    return;
  }
  const match = subscripted.exec(field);
  if (match !== null) {
    const key = match[3] as string;
    // Annotation keys may contain upper-case letters.
    const rule = (k: string) => isQualifiedName(match[2] === 'annotations' ? k.toLowerCase() : k);
    if (match[1] !== 'metadata' || (match[2] !== 'annotations' && match[2] !== 'labels')) {
      const detail = `error converting fieldPath: field label does not support subscript: ${field}`;
      errors.push(invalid(fieldPath, field, detail));
    } else checkText(key, rule, path, errors);
  } else if (!knownFields.has(field)) {
    errors.push(invalid(fieldPath, field, `error converting fieldPath: field label not supported: ${field}`));
  } else if (!shown.includes(field)) {
    errors.push(notSupported(fieldPath, field, shown));
  }
}

/** Validates a reference to the resources of a container. A file of a volume must name the container. */
export function validateResourceFieldSelector(
  selector: ResourceFieldSelector,
  isFile: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { resource, divisor } = selector;
  if (isFile && !selector.containerName) errors.push(required(path.child('containerName')));
  else if (resource === '') errors.push(required(path.child('resource')));
  else if (!resourceFields.includes(resource) && !/^(?:limits|requests)\.hugepages-/.test(resource)) {
    errors.push(notSupported(path.child('resource'), resource, resourceFields));
  }
  if (divisor === '0') return;
  const isCpu = resource.endsWith('.cpu');
  if (isCpu ? divisor === '1m' || divisor === '1' : byteDivisors.includes(divisor)) return;
  const wanted = isCpu ? '1m and 1' : byteDivisorList;
  const kind = isCpu ? 'cpu' : resource.endsWith('.memory') ? 'memory' : 'local ephemeral storage';
  if (!/\.(?:cpu|memory|ephemeral-storage)$/.test(resource)) return;
  errors.push(
    invalid(path.child('divisor'), resource, `only divisor's values ${wanted} are supported with the ${kind} resource`),
  );
}

/** Validates the sources of a container's environment variables. */
export function validateEnvFrom(sources: readonly EnvFromSource[], path: FieldPath, errors: FieldError[]): void {
  sources.forEach((source, i) => {
    const at = path.index(i);
    if (source.prefix) checkText(source.prefix, isEnvVarName, at.child('prefix'), errors);
    let count = 0;
    if (source.configMapRef !== undefined) {
      count++;
      validateSourceName(source.configMapRef.name, at.child('configMapRef').child('name'), errors);
    }
    if (source.secretRef !== undefined) {
      count++;
      validateSourceName(source.secretRef.name, at.child('secretRef').child('name'), errors);
    }
    if (count === 0) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  });
}

function validateSourceName(name: string | undefined, path: FieldPath, errors: FieldError[]): void {
  if (!name) errors.push(required(path));
  else checkText(name, isDns1123Subdomain, path, errors);
}
