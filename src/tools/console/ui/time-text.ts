/** A time of day as people read it, in their own time zone; with the day, unless it is the day of `now`. */
export function clockText(time: number, now: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === new Date(now).toDateString()) return clock;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

/** A time for an `<input type="datetime-local">`, which is in the reader's own time zone. */
export function localInputText(time: number): string {
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
