import { createPrivateKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';

/** ASN.1 tags of the text types in names. */
export const textTags = {
  utf8: 0x0c,
  numeric: 0x12,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  visible: 0x1a,
  universal: 0x1c,
  bmp: 0x1e,
} as const;

export type TextType = keyof typeof textTags;

const sequenceTag = 0x30;
const setTag = 0x31;
const bitStringTag = 0x03;
const octetStringTag = 0x04;
const ecdsaWithSha256 = tlv(sequenceTag, Buffer.from('06082a8648ce3d040302', 'hex'));
const attributeTypes = { CN: '0603550403', O: '060355040a', OU: '060355040b' } as const;

/** One ASN.1 node with any content. Nothing is checked, since tests need input that must be refused. */
export function tlv(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const size = length < 0x80 ? [length] : length < 0x1_00 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), body]);
}

/** A text, encoded as its type requires. */
export function textNode(type: TextType, text: string): Buffer {
  const wide = (size: number) =>
    Buffer.concat(
      Array.from(text, (character) => {
        const unit = Buffer.alloc(size);
        unit.writeUIntBE(character.codePointAt(0) as number, 0, size);
        return unit;
      }),
    );
  if (type === 'bmp') return tlv(textTags.bmp, wide(2));
  if (type === 'universal') return tlv(textTags.universal, wide(4));
  return tlv(textTags[type], Buffer.from(text, type === 'utf8' ? 'utf8' : 'latin1'));
}

/** One attribute of a name: its type and the encoded value. */
export type RawAttribute = readonly [kind: keyof typeof attributeTypes, value: Buffer];

/** A name in DER. Each part has one attribute, or several. */
export function rawName(...parts: readonly (readonly RawAttribute[])[]): Buffer {
  const attribute = ([kind, value]: RawAttribute) => tlv(sequenceTag, Buffer.from(attributeTypes[kind], 'hex'), value);
  return tlv(sequenceTag, ...parts.map((attributes) => tlv(setTag, ...attributes.map(attribute))));
}

/** A common name and organizations, all with the same text type. */
export function nameOfType(type: TextType, commonName: string, ...organizations: readonly string[]): Buffer {
  const parts = organizations.map((text): RawAttribute[] => [['O', textNode(type, text)]]);
  return rawName(...parts, [['CN', textNode(type, commonName)]]);
}

/** An extension: its object identifier in DER, without tag and length, and the bytes of its value. */
export function rawExtension(id: string, value: Buffer): Buffer {
  return tlv(sequenceTag, tlv(0x06, Buffer.from(id, 'hex')), tlv(octetStringTag, value));
}

/** The attribute of a certificate request that requests extensions. */
export function extensionRequest(...extensions: readonly Buffer[]): Buffer {
  const id = Buffer.from('06092a864886f70d01090e', 'hex');
  return tlv(sequenceTag, id, tlv(setTag, tlv(sequenceTag, ...extensions)));
}

/** A certificate or a request in PEM, and its key. */
export interface RawPair {
  readonly pem: string;
  readonly key: string;
}

/** A correctly signed PKCS#10 request whose subject may be any bytes. */
export function rawRequest(subject: Buffer, ...attributes: readonly Buffer[]): RawPair {
  const { publicKey, privateKey } = newKeys();
  const info = tlv(sequenceTag, Buffer.of(2, 1, 0), subject, spki(publicKey), tlv(0xa0, ...attributes));
  return { pem: pemOf('CERTIFICATE REQUEST', signed(info, privateKey)), key: pkcs8(privateKey) };
}

/** A correctly signed client certificate whose subject may be any bytes. */
export function rawCertificate(
  issuer: { readonly cert: string; readonly key: string },
  subject: Buffer,
  ...extensions: readonly Buffer[]
): RawPair {
  const { publicKey, privateKey } = newKeys();
  const body = tlv(
    sequenceTag,
    Buffer.from('a003020102', 'hex'),
    Buffer.of(2, 1, 77),
    ecdsaWithSha256,
    issuerName(issuer.cert),
    tlv(sequenceTag, time(-86_400_000), time(86_400_000)),
    subject,
    spki(publicKey),
    ...(extensions.length === 0 ? [] : [tlv(0xa3, tlv(sequenceTag, ...extensions))]),
  );
  return {
    pem: pemOf('CERTIFICATE', signed(body, createPrivateKey(issuer.key))),
    key: pkcs8(privateKey),
  };
}

/** The DER inside a PEM text. */
export function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}

function signed(body: Buffer, key: KeyObject): Buffer {
  const signature = tlv(bitStringTag, Buffer.of(0), sign('sha256', body, key));
  return tlv(sequenceTag, body, ecdsaWithSha256, signature);
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function pkcs8(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }));
}

function pemOf(label: string, der: Buffer): string {
  const lines = der
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

function time(fromNow: number): Buffer {
  const digits = new Date(Date.now() + fromNow).toISOString().replace(/[-:T]|\.\d+Z$/g, '');
  return tlv(0x17, Buffer.from(`${digits.slice(2)}Z`, 'latin1'));
}

/** The issuer's name. Roots in tests have only one attribute, a common name. */
function issuerName(pem: string): Buffer {
  const name = new X509Certificate(pem).subject.replace(/^CN=/, '');
  return nameOfType(/^[A-Za-z0-9 -]*$/.test(name) ? 'printable' : 'utf8', name);
}
