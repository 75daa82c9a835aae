/** The server and the account that a password is for. */
export interface PasswordOwner {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * The password of the first line of a libpq password file that matches, undefined if none does. A line is
 * `host:port:database:user:password`; `*` matches everything, `\` takes the meaning of the next character, and `localhost` also
 * stands for unix sockets.
 */
export function passwordFromFile(text: string, owner: PasswordOwner): string | undefined {
  const host = owner.host.startsWith('/') ? 'localhost' : owner.host;
  const wanted = [host, String(owner.port), owner.database, owner.user];
  for (const line of text.split(/\r?\n/)) {
    if (line === '' || line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const password = fields[4];
    if (password === undefined) continue;
    if (wanted.every((value, index) => fields[index]?.raw === '*' || fields[index]?.value === value))
      return password.value;
  }
  return undefined;
}

interface Field {
  readonly raw: string;
  readonly value: string;
}

/** At most five fields; colons within the last one belong to it. */
function fieldsOf(line: string): Field[] {
  const fields: Field[] = [];
  let rest = line;
  while (fields.length < 4) {
    const [raw = ''] = /^(?:\\.|[^\\:])*/s.exec(rest) ?? [];
    fields.push({ raw, value: unescaped(raw) });
    if (rest[raw.length] !== ':') return fields;
    rest = rest.slice(raw.length + 1);
  }
  fields.push({ raw: rest, value: unescaped(rest) });
  return fields;
}

function unescaped(raw: string): string {
  return raw.replaceAll(/\\(.)/gs, '$1');
}
