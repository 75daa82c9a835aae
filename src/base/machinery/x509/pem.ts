/** One block of a PEM text (RFC 7468). */
export interface PemBlock {
  readonly label: string;
  /** Whether lines such as `Proc-Type: 4,ENCRYPTED` precede the data. */
  readonly hasHeaders: boolean;
  readonly der: Buffer;
}

const begin = '-----BEGIN ';
const end = '-----END ';
const dashes = '-----';
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The blocks of a PEM text, in order. Malformed blocks and text around blocks are skipped. */
export function readPem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let label: string | undefined;
  let hasHeaders = false;
  let data: string[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (line.startsWith(begin) && trimmed.endsWith(dashes)) {
      label = trimmed.slice(begin.length, -dashes.length);
      hasHeaders = false;
      data = [];
    } else if (label === undefined) {
      // Text between blocks.
    } else if (line.startsWith(end)) {
      const block = trimmed === `${end}${label}${dashes}` ? makeBlock(label, hasHeaders, data.join('')) : undefined;
      if (block !== undefined) blocks.push(block);
      label = undefined;
    } else if (data.length === 0 && trimmed.includes(':')) {
      hasHeaders = true;
    } else if (trimmed !== '') {
      data.push(trimmed);
    }
  }
  return blocks;
}

function makeBlock(label: string, hasHeaders: boolean, data: string): PemBlock | undefined {
  if (data.length % 4 !== 0 || !base64.test(data)) return undefined;
  return { label, hasHeaders, der: Buffer.from(data, 'base64') };
}

/** One PEM block with lines of 64 characters and a final line break. */
export function encodePem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`${begin}${label}${dashes}`, ...lines, `${end}${label}${dashes}`, ''].join('\n');
}
