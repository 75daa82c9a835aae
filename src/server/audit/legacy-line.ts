import type { AuditInfo } from './audit-event.js';

/** Formats an event as one line, in the format `legacy`. Values are quoted, so no client can fake a line or a field. */
export function legacyLine(info: AuditInfo): string {
  const { user, impersonatedUser, requestInfo, response } = info;
  const fields: readonly (readonly [string, string])[] = [
    ['id', info.auditID],
    ['stage', info.stage],
    ['ip', info.sourceIPs[0] ?? '<unknown>'],
    ['method', requestInfo.verb],
    ['user', user === undefined || user.name === '' ? '<none>' : user.name],
    ['groups', user === undefined || user.groups.length === 0 ? '<none>' : list(user.groups)],
    ['as', impersonatedUser?.name ?? '<self>'],
    ['asgroups', impersonatedUser === undefined ? '<lookup>' : list(impersonatedUser.groups)],
    ['user-agent', info.userAgent],
    ['namespace', info.namespace === '' ? '<none>' : info.namespace],
    ['uri', info.requestURI],
    ['response', response === undefined ? '<deferred>' : String(response.code)],
  ];
  const shown = fields.map(([name, value]) => `${name}=${quoted(value)}`);
  return `${new Date(info.receivedAt).toISOString()} AUDIT: ${shown.join(' ')}`;
}

function list(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(',');
}

/** Also escapes characters that JSON allows but that terminals or line readers may interpret. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
