/** The low three bits of a protobuf tag. */
export const WireType = { varint: 0, fixed64: 1, bytes: 2 } as const;

export type WireType = (typeof WireType)[keyof typeof WireType];
