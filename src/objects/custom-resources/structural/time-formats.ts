const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/;
const timeForm = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;

/** Whether a string is a date that exists: `2026-02-28`. */
export function isDate(text: string): boolean {
  const match = dateForm.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Whether a string is a date and time as in RFC 3339. */
export function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t', 2);
  if (date === undefined || time === undefined || !isDate(date)) return false;
  const match = timeForm.exec(time);
  if (match === null) return false;
  return (match[1] as string) <= '23' && (match[2] as string) <= '59' && (match[3] as string) <= '59';
}

const goDuration = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const units = new Set(
  'ns nano nanosecond us µs micro microsecond ms milli millisecond s sec second m min minute h hr hour d day w wk week'
    .split(' ')
    .flatMap((unit) => [unit, `${unit}s`]),
);
const numbersWithUnits = /^(?:\s*\d+\s*[a-zµ]+)+\s*$/i;
const maxDurationLength = 1000;

/** Whether a string is a duration: `1h30m`, or numbers with units such as `3 days`. */
export function isDuration(text: string): boolean {
  if (text.length > maxDurationLength) return false;
  if (goDuration.test(text)) return true;
  if (!numbersWithUnits.test(text)) return false;
  return (text.match(/[a-zµ]+/gi) ?? []).every((unit) => units.has(unit.toLowerCase()));
}
