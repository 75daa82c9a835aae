/** The mark of the project. */
export function Logo() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d="M2.5 2h11v2.4h-11zM5 5.6h6v4.8H5zM1.5 11.6h13V14h-13z" />
    </svg>
  );
}
