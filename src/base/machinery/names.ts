import { BoundedMemo } from './bounded-memo.js';

/**
 * Rules for names, labels and annotation keys (RFC 1123, RFC 1035). Each function returns the messages of violated
 * rules; an empty list means valid. Clients see these messages.
 */

const dns1123LabelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123LabelRegExp = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const dns1123SubdomainFormat = `${dns1123LabelFormat}(\\.${dns1123LabelFormat})*`;
const dns1123SubdomainRegExp = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const underscoreLabelFormat = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const underscoreSubdomainFormat = `${underscoreLabelFormat}(\\.${underscoreLabelFormat})*`;
const underscoreSubdomainRegExp = /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:\._?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*$/;
const dns1035LabelFormat = '[a-z]([-a-z0-9]*[a-z0-9])?';
const dns1035LabelRegExp = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const qualifiedNameFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const qualifiedNameRegExp = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValueFormat = `(${qualifiedNameFormat})?`;
const configKeyRegExp = /^[-._a-zA-Z0-9]+$/;
const envVarNameRegExp = /^[ -<>-~]+$/;
const portNameRegExp = /^[-a-z0-9]+$/;

/** A longer string is refused for its length alone; its characters are not checked. */
const longestTested = 4096;

function breaks(format: RegExp, value: string): boolean {
  return value.length <= longestTested && !format.test(value);
}

export const maxSubdomainLength = 253;
const maxLabelLength = 63;

/** Messages about labels give the limit in bytes. */
function maxBytes(length: number): string {
  return `must be no more than ${length} bytes`;
}

function maxLength(length: number): string {
  return `must be no more than ${length} characters`;
}

function regexMessage(rule: string, format: string, ...examples: readonly string[]): string {
  const list = examples.map((e) => `'${e}', `).join(' or ');
  return examples.length === 0
    ? `${rule} (regex used for validation is '${format}')`
    : `${rule} (e.g. ${list}regex used for validation is '${format}')`;
}

/** RFC 1123 label, for names that become part of a DNS name. */
export function isDns1123Label(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxLabelLength) errors.push(maxLength(maxLabelLength));
  if (breaks(dns1123LabelRegExp, value)) {
    if (value.includes('.') && isDns1123Subdomain(value).length === 0) return [...errors, 'must not contain dots'];
    const rule =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
    errors.push(regexMessage(rule, dns1123LabelFormat, 'my-name', '123-abc'));
  }
  return errors;
}

/** RFC 1123 subdomain: the usual rule for object names. */
export function isDns1123Subdomain(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxSubdomainLength) errors.push(maxLength(maxSubdomainLength));
  if (breaks(dns1123SubdomainRegExp, value)) {
    const rule =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    errors.push(regexMessage(rule, dns1123SubdomainFormat, 'example.com'));
  }
  return errors;
}

/** Like an RFC 1123 subdomain, but letters may be upper case: names of drivers of volumes. */
export function isAnyCaseDns1123Subdomain(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxSubdomainLength) errors.push(maxBytes(maxSubdomainLength));
  if (breaks(dns1123SubdomainRegExp, value.toLowerCase())) {
    const rule =
      "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    errors.push(regexMessage(rule, dns1123SubdomainFormat, 'Example.com'));
  }
  return errors;
}

/** Like an RFC 1123 subdomain, but with underscores: search paths and names of services in DNS may have them. */
export function isDns1123SubdomainWithUnderscore(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxSubdomainLength) errors.push(maxLength(maxSubdomainLength));
  if (breaks(underscoreSubdomainRegExp, value)) {
    const rule =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
    errors.push(regexMessage(rule, underscoreSubdomainFormat, 'example.com'));
  }
  return errors;
}

/** RFC 1035 label: like a label, but starting with a letter (service names). */
export function isDns1035Label(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxLabelLength) errors.push(maxLength(maxLabelLength));
  if (breaks(dns1035LabelRegExp, value)) {
    const rule =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    errors.push(regexMessage(rule, dns1035LabelFormat, 'my-name', 'abc-123'));
  }
  return errors;
}

/** A subdomain whose first label is `*` (ingress hosts). */
export function isWildcardDns1123Subdomain(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxSubdomainLength) errors.push(maxLength(maxSubdomainLength));
  if (!value.startsWith('*.') || breaks(dns1123SubdomainRegExp, value.slice(2))) {
    const rule =
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
    errors.push(regexMessage(rule, `\\*\\.${dns1123SubdomainFormat}`, '*.example.com'));
  }
  return errors;
}

/** Nearly every name with a prefix occurs in many objects. */
const checkedNames = new BoundedMemo(checkQualifiedName, 2000, 128);

/** A label key, annotation key or finalizer: an optional DNS prefix, a slash and a short name. */
export function isQualifiedName(value: string): string[] {
  // A test is cheaper than a lookup in the cache, above all for thousands of names that a client makes up.
  if (value.length <= maxLabelLength && qualifiedNameRegExp.test(value)) return [];
  return [...checkedNames.get(value)];
}

function checkQualifiedName(value: string): readonly string[] {
  const errors: string[] = [];
  const parts = value.split('/');
  let name: string;
  if (parts.length === 1) {
    name = value;
  } else if (parts.length === 2) {
    const prefix = parts[0] as string;
    name = parts[1] as string;
    if (prefix === '') errors.push('prefix part must be non-empty');
    else errors.push(...isDns1123Subdomain(prefix).map((m) => `prefix part ${m}`));
  } else {
    const rule =
      "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    const message = regexMessage(rule, qualifiedNameFormat, 'MyName', 'my.name', '123-abc');
    return [`${message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > maxLabelLength) errors.push(`name part ${maxBytes(maxLabelLength)}`);
  if (breaks(qualifiedNameRegExp, name)) {
    const rule =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    errors.push(`name part ${regexMessage(rule, qualifiedNameFormat, 'MyName', 'my.name', '123-abc')}`);
  }
  return errors;
}

/** The value of a label. */
export function isValidLabelValue(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxLabelLength) errors.push(maxBytes(maxLabelLength));
  if (value !== '' && breaks(qualifiedNameRegExp, value)) {
    const rule =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    errors.push(regexMessage(rule, labelValueFormat, 'MyValue', 'my_value', '12345'));
  }
  return errors;
}

/** A key of a ConfigMap or Secret. */
export function isConfigMapKey(value: string): string[] {
  const errors: string[] = [];
  if (value.length > maxSubdomainLength) errors.push(maxLength(maxSubdomainLength));
  if (breaks(configKeyRegExp, value)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    errors.push(regexMessage(rule, '[-._a-zA-Z0-9]+', 'key.name', 'KEY_NAME', 'key-name'));
  }
  if (value === '.') errors.push("must not be '.'");
  else if (value === '..') errors.push("must not be '..'");
  else if (value.startsWith('..')) errors.push("must not start with '..'");
  return errors;
}

/** The name of an environment variable of a container. */
export function isEnvVarName(value: string): string[] {
  if (!breaks(envVarNameRegExp, value)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** The name of a container port (RFC 6335 service name). */
export function isPortName(value: string): string[] {
  const errors: string[] = [];
  if (value.length > 15) errors.push(maxLength(15));
  if (breaks(portNameRegExp, value))
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)');
  if (value.includes('--')) errors.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

/** A TCP, UDP or SCTP port. */
export function isPortNumber(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : ['must be between 1 and 65535, inclusive'];
}

/** One segment of a URL path: the rule for RBAC names. */
export function isPathSegmentName(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  const errors: string[] = [];
  for (const bad of ['/', '%']) if (value.includes(bad)) errors.push(`may not contain '${bad}'`);
  return errors;
}
