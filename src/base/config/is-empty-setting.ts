/** Whether a value of a configuration file is empty or zero, at every depth. */
export function isEmptySetting(value: unknown): boolean {
  if (
    value === null ||
    value === undefined ||
    value === '' ||
    value === 0 ||
    value === false ||
    value === '0' ||
    value === '0s'
  )
    return true;
  return typeof value === 'object' && Object.values(value).every(isEmptySetting);
}
