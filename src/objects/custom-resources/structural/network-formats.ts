import { isIP, isIPv4 } from 'node:net';

/** Whether a string is four decimal numbers, or the IPv6 form that ends with them. */
export function isIpv4(text: string): boolean {
  return text.includes('.') && isAddress(text);
}

/** Whether a string is an address with colons. */
export function isIpv6(text: string): boolean {
  return text.includes(':') && isAddress(text);
}

/** Whether a string is an IP address. A zone, which scoped addresses may have elsewhere, is not allowed. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** Whether a string is an address and a prefix length. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  if (!isAddress(address) || !/^\d{1,4}$/.test(length)) return false;
  return Number(length) <= (isIPv4(address) ? 32 : 128);
}

const macs = [
  /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?:(?::[0-9a-f]{2}){2}|(?::[0-9a-f]{2}){14})?$/i,
  /^[0-9a-f]{2}(?:-[0-9a-f]{2}){5}(?:(?:-[0-9a-f]{2}){2}|(?:-[0-9a-f]{2}){14})?$/i,
  /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?$/i,
];

/** Whether a string is a hardware address of 6, 8 or 20 bytes with colons, hyphens or dots. */
export function isMac(text: string): boolean {
  return text.length <= 60 && macs.some((form) => form.test(text));
}
