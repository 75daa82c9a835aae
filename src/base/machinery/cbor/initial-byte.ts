/** The major types of RFC 8949 section 3.1, as the upper three bits of an item's first byte. */
export const Major = {
  unsigned: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  simple: 7,
} as const;

export type Major = (typeof Major)[keyof typeof Major];

/**
 * The lower five bits of a first byte, which determine how long the following number is, and those of simple values.
 */
export const Info = {
  oneByte: 24,
  twoBytes: 25,
  fourBytes: 26,
  eightBytes: 27,
  indefinite: 31,
  false: 20,
  true: 21,
  null: 22,
} as const;

/** Ends an item of indefinite length. */
export const breakByte = 0xff;

/** Tags that have a meaning here; others are skipped. */
export const Tag = {
  timeText: 0,
  epochTime: 1,
  unsignedBignum: 2,
  negativeBignum: 3,
  laterBase64Url: 21,
  laterBase64: 22,
  laterBase16: 23,
} as const;
