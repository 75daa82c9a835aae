import { isDns1123Label, isDns1123Subdomain } from '../../../base/machinery/names.js';
import { isCidr, isIpv4, isIpv6, isMac } from './network-formats.js';
import { isDate, isDateTime, isDuration } from './time-formats.js';

/** Whether a string has the format. Takes time linear in the string. */
export type FormatCheck = (text: string) => boolean;

const objectId = /^[0-9a-fA-F]{24}$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const uuid3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const uuid4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const uuid5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const ssn = /^\d{3}[- ]\d{2}[- ]\d{4}$/;
const hexColor = /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/;
const colorPart = '(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const rgbColor = new RegExp(`^rgb\\( ?${colorPart} ?, ?${colorPart} ?, ?${colorPart} ?\\)$`);
const creditCard =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11}|6[27]\d{14})$/;

const checks: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', (text) => objectId.test(text)],
  ['uri', isUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', (text) => uuid.test(text)],
  ['uuid3', (text) => uuid3.test(text)],
  ['uuid4', (text) => uuid4.test(text)],
  ['uuid5', (text) => uuid5.test(text)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => ssn.test(text)],
  ['hexcolor', (text) => hexColor.test(text)],
  ['rgbcolor', (text) => rgbColor.test(text)],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['k8sshortname', (text) => isDns1123Label(text).length === 0],
  ['k8slongname', (text) => isDns1123Subdomain(text).length === 0],
]);

/**
 * How a format is checked. Undefined for formats that mean nothing for a custom object, as in the reference: those of
 * numbers (int32, int64, float, double) and unknown ones. Hyphens are ignored: date-time is datetime.
 */
export function formatCheck(format: string): FormatCheck | undefined {
  return format === '' ? undefined : (checks.get(format) ?? checks.get(format.replaceAll('-', '')));
}

/** Whether a string is an absolute URI or an absolute path. */
function isUri(text: string): boolean {
  if (text === '' || hasControl(text)) return false;
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(text);
  const rest = scheme === null ? text : text.slice(scheme[0].length);
  if (scheme === null && !rest.startsWith('/')) return text === '*';
  if (/%(?![0-9a-fA-F]{2})/.test(rest.split('?', 1)[0] as string)) return false;
  if (!rest.startsWith('//')) return true;
  const authority = rest.slice(2).split(/[/?]/, 1)[0] as string;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.startsWith('[')) return /^\[[0-9a-fA-F:.]+(?:%25[^\]]+)?\](?::\d*)?$/.test(host);
  return /^[^\s<>"{}|\\^`[\]:]*(?::\d*)?$/.test(host);
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

const atom = '[^\\s()<>\\[\\]:;@\\\\,."\\u0000-\\u001f\\u007f]+';
const dotAtom = new RegExp(`^${atom}(?:\\.${atom})*$`);

/** Whether a string is one mail address, alone or in angle brackets after a name. */
function isEmail(text: string): boolean {
  let address = text.trim();
  if (address.endsWith('>')) {
    const open = address.lastIndexOf('<');
    if (open < 0) return false;
    const name = address.slice(0, open).trim();
    if (name !== '' && !/^"[^"]*"$/.test(name) && /[()<>[\]:;@\\,"]/.test(name)) return false;
    address = address.slice(open + 1, -1);
  }
  const at = address.lastIndexOf('@');
  if (at <= 0) return false;
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const isLocal = dotAtom.test(local) || (local.length > 2 && /^"(?:[^"\\]|\\.)*"$/.test(local));
  return isLocal && (dotAtom.test(domain) || /^\[[^[\]\\]*\]$/.test(domain));
}

const letter = '[a-zA-Z0-9\\p{S}\\p{L}]';
const hostLabel = new RegExp(`^${letter}(?:(?:[-a-zA-Z0-9\\p{S}\\p{L}]{0,61}${letter})?)$`, 'u');
const topLabel = /^[a-zA-Z\p{L}]{2,63}$/u;

function isHostname(text: string): boolean {
  if (text.length > 255) return false;
  const labels = text.split('.');
  const last = labels.pop() as string;
  if (labels.length === 0) return hostLabel.test(last);
  return labels.every((label) => hostLabel.test(label)) && topLabel.test(last);
}

function isIsbn10(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = withoutSeparators(text);
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i]);
  return sum % 10 === 0;
}

function withoutSeparators(text: string): string {
  return text.replace(/[ -]/g, '');
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, '');
  if (!creditCard.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Whether a string is standard base64 with padding, and not empty. */
function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
