import protobuf from 'protobufjs/minimal.js';
import type { WireMessage } from './wire.js';

/** No list of a machine is longer. */
const mostEntries = 100_000;
const idField = 1;

/**
 * Reads answers that consist of one repeated message, whose entries have an id as their first field, and a state. Nothing
 * else of an entry ever changes, so an entry that was in the answer before with the same state is the same object as then.
 */
export class RememberedList<Out> {
  private known = new Map<string, Out>();

  /**
   * @param field number of the repeated message in the answer; other fields are skipped
   * @param stateField number of the state, an enumeration, in an entry
   */
  constructor(
    private readonly field: number,
    private readonly stateField: number,
    private readonly type: Pick<WireMessage<Out, never>, 'decode'>,
  ) {}

  /** @throws RangeError for an answer that is cut off or has too many entries */
  decode(bytes: Buffer): readonly Out[] {
    const reader = protobuf.Reader.create(bytes);
    const now = new Map<string, Out>();
    const entries: Out[] = [];
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag !== this.field * 8 + 2) {
        reader.skipType(tag & 7);
        continue;
      }
      const length = reader.uint32();
      const start = reader.pos;
      const end = start + length;
      if (end > reader.len) throw new RangeError('the list is cut off');
      if (entries.length >= mostEntries) throw new RangeError(`a list has more than ${mostEntries} entries`);
      const key = this.keyOf(reader, end);
      reader.pos = end;
      const entry = this.known.get(key) ?? this.type.decode(bytes.subarray(start, end));
      now.set(key, entry);
      entries.push(entry);
    }
    this.known = now;
    return entries;
  }

  /** The id and the state of the entry that begins here. Mostly both come before everything that is long. */
  private keyOf(reader: protobuf.Reader, end: number): string {
    let id: string | undefined;
    let state: number | undefined;
    while (reader.pos < end && (id === undefined || state === undefined)) {
      const tag = reader.uint32();
      if (tag === idField * 8 + 2) id = reader.string();
      else if (tag === this.stateField * 8) state = reader.uint32();
      else reader.skipType(tag & 7);
    }
    return `${state ?? 0} ${id ?? ''}`;
  }
}
