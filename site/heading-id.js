/**
 * The anchor of a heading, as GitHub makes it: in lower case, without punctuation, with a hyphen for each space. So links
 * lead to the same place on the site and among the sources.
 */
export function headingId(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}
