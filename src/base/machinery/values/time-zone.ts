const minuteMs = 60_000;

/** The clock of a time zone (IANA name), from the rules that the runtime knows. */
export class TimeZone {
  private readonly parts: Intl.DateTimeFormat;

  /**
   * @param name default: the zone of the process
   * @throws RangeError for a name that the runtime does not know
   */
  constructor(name?: string) {
    this.parts = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** The offset of the zone's clock from UTC at an instant, in milliseconds; whole minutes. */
  offsetAt(instant: number): number {
    const value = new Map(this.parts.formatToParts(instant).map((part) => [part.type, Number(part.value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => value.get(type) ?? 0;
    const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
    return Math.round((shown - instant) / minuteMs) * minuteMs;
  }

  /** RFC 3339 with the offset of the zone. */
  format(instant: number): string {
    const offset = this.offsetAt(instant);
    const text = new Date(instant + offset).toISOString().slice(0, 19);
    if (offset === 0) return `${text}Z`;
    const minutes = Math.abs(offset) / minuteMs;
    const two = (value: number) => String(value).padStart(2, '0');
    return `${text}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  }
}
