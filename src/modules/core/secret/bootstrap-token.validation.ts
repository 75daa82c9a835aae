import {
  bootstrapTokenSecretPrefix,
  expirationTime,
  isBootstrapGroup,
  isTokenId,
  isTokenSecret,
  bootstrapTokenKeys as keys,
  secretText,
} from '../../../base/machinery/bootstrap-token.js';
import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import type { Secret } from '../../../objects/apis/core/v1/secret.types.js';

const dataPath = FieldPath.of('data');
const namePath = FieldPath.of('metadata', 'name');
const redacted = '<secret contents redacted>';
const switches = ['true', 'false'];

/** Validates the entries of a bootstrap token (specification 2.8). Messages never show its secret part. */
export function validateBootstrapToken(object: Secret): FieldError[] {
  const errors: FieldError[] = [];
  const id = secretText(object, keys.id);
  const idPath = dataPath.key(keys.id);
  const name = object.metadata.name ?? '';
  if (id === undefined) errors.push(required(idPath));
  else if (!isTokenId(id)) errors.push(invalid(idPath, id, 'must be 6 characters of a-z and 0-9'));
  else if (name !== `${bootstrapTokenSecretPrefix}${id}`) {
    errors.push(invalid(namePath, name, `must be ${bootstrapTokenSecretPrefix}${id}, after the id of the token`));
  }
  const secret = secretText(object, keys.secret);
  const secretPath = dataPath.key(keys.secret);
  if (secret === undefined) errors.push(required(secretPath));
  else if (!isTokenSecret(secret)) errors.push(invalid(secretPath, redacted, 'must be 16 characters of a-z and 0-9'));

  const expiration = secretText(object, keys.expiration) ?? '';
  if (expiration !== '' && expirationTime(expiration) === undefined) {
    errors.push(invalid(dataPath.key(keys.expiration), expiration, 'must be a time as in RFC 3339'));
  }
  for (const key of [keys.usageAuthentication, keys.usageSigning]) {
    const value = secretText(object, key);
    if (value !== undefined && !switches.includes(value)) {
      errors.push(notSupported(dataPath.key(key), value, switches));
    }
  }
  const groups = secretText(object, keys.extraGroups) ?? '';
  for (const group of groups === '' ? [] : groups.split(',')) {
    if (isBootstrapGroup(group)) continue;
    const detail =
      'must begin with system:bootstrappers: and go on with a-z, 0-9, - and :, not ending in one of the last';
    errors.push(invalid(dataPath.key(keys.extraGroups), group, detail));
  }
  return errors;
}
