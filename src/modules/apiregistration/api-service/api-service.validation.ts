import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { isDns1035Label, isDns1123Subdomain, isPathSegmentName, isPortNumber } from '../../../base/machinery/names.js';
import { type APIService, conditionStatus } from '../../../objects/apis/apiregistration/v1/api-service.types.js';

const specPath = FieldPath.of('spec');
const namePath = FieldPath.of('metadata', 'name');
const servicePath = specPath.child('service');
const conditionsPath = FieldPath.of('status', 'conditions');

const highestGroupPriority = 20_000;
const highestVersionPriority = 1_000;

/** Validates a new or changed APIService. */
export function validateAPIService({ metadata, spec }: APIService): FieldError[] {
  const { group = '', version = '' } = spec;
  const errors: FieldError[] = [];
  for (const problem of nameProblems(metadata.name ?? '', `${version}.${group}`)) {
    errors.push(invalid(namePath, metadata.name, problem));
  }
  if (group === '' && version !== 'v1') {
    errors.push(required(specPath.child('group'), 'only v1 may have an empty group and it better be legacy kube'));
  }
  if (group !== '') {
    for (const problem of isDns1123Subdomain(group)) errors.push(invalid(specPath.child('group'), group, problem));
  }
  for (const problem of isDns1035Label(version)) errors.push(invalid(specPath.child('version'), version, problem));
  errors.push(
    ...priorityErrors('groupPriorityMinimum', spec.groupPriorityMinimum, highestGroupPriority),
    ...priorityErrors('versionPriority', spec.versionPriority, highestVersionPriority),
    ...serverErrors(spec),
  );
  return errors;
}

/** Validates a status. */
export function validateAPIServiceStatus({ conditions = [] }: APIService['status']): FieldError[] {
  const known = ['True', 'False', 'Unknown'];
  return conditions.flatMap(({ status }, index) =>
    (conditionStatus.values as readonly string[]).includes(status)
      ? []
      : [notSupported(conditionsPath.index(index).child('status'), status, known)],
  );
}

function nameProblems(name: string, wanted: string): string[] {
  const problems = isPathSegmentName(name);
  if (problems.length > 0 || name === wanted) return problems;
  return [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`];
}

function priorityErrors(field: string, value: number, highest: number): FieldError[] {
  if (value > 0 && value <= highest) return [];
  return [invalid(specPath.child(field), value, `must be positive and less than ${highest}`)];
}

/** Validates the server of the group version, and how it is verified. */
function serverErrors({ service, caBundle = '', insecureSkipTLSVerify = false }: APIService['spec']): FieldError[] {
  const errors: FieldError[] = [];
  const insecurePath = specPath.child('insecureSkipTLSVerify');
  if (service === undefined) {
    if (caBundle !== '') {
      const size = `${Buffer.byteLength(caBundle, 'base64')} bytes`;
      errors.push(invalid(specPath.child('caBundle'), size, 'local APIServices may not have a caBundle'));
    }
    if (insecureSkipTLSVerify) {
      errors.push(invalid(insecurePath, true, 'local APIServices may not have insecureSkipTLSVerify'));
    }
    return errors;
  }
  const { namespace = '', name = '', port = 0 } = service;
  if (namespace === '') errors.push(required(servicePath.child('namespace')));
  if (name === '') errors.push(required(servicePath.child('name')));
  const portProblems = isPortNumber(port);
  if (portProblems.length > 0) {
    errors.push(invalid(servicePath.child('port'), port, `port is not valid: ${portProblems.join(', ')}`));
  }
  if (insecureSkipTLSVerify && caBundle !== '') {
    errors.push(invalid(insecurePath, true, 'may not be true if caBundle is present'));
  }
  return errors;
}
