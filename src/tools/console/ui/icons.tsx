/** Drawings on a square of 16, as lines. */
const shapes = {
  overview: 'M2 9h4V2H2zm8 5h4V7h-4zM2 14h4v-2H2zm8-10h4V2h-4z',
  workloads: 'M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.5 5 8 8.2 13.5 5M8 8.2v6',
  network: 'M8 4.5v3M4 11.5v-2h8v2M8 7.5v2M6.5 2h3v2.5h-3zM2.5 11.5h3V14h-3zM10.5 11.5h3V14h-3z',
  configuration: 'M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M10 3v3M6 10v3M10 3a1.5 1.5 0 1 0 .01 0M6 10a1.5 1.5 0 1 0 .01 0',
  storage: 'M2.5 4c0-2.4 11-2.4 11 0v8c0 2.4-11 2.4-11 0zM2.5 4c0 2.4 11 2.4 11 0M2.5 8c0 2.4 11 2.4 11 0',
  access: 'M5.5 7.5a3 3 0 1 1 .01 0zM7.8 6.8 14 13M11.5 10.5l1.6-1.6',
  custom: 'M6 2H2v4h4zM14 2h-4v4h4zM6 10H2v4h4zM12 9.5v5M9.5 12h5',
  cluster: 'M2 2.5h12v4H2zM2 9.5h12v4H2zM4.5 4.5h.01M4.5 11.5h.01',
  map: 'M4 4.5a1.5 1.5 0 1 0-.01 0M12 4a1.5 1.5 0 1 0-.01 0M8 14.5a1.5 1.5 0 1 0-.01 0M5.2 3h5.3M4.8 4.4l2.6 7.2M11.4 4 8.7 11.6',
  helm: 'M8 12a4 4 0 1 0-.01 0M8 9.2a1.2 1.2 0 1 0-.01 0M8 1.5v5.2M8 9.3v5.2M1.5 8h5.2M9.3 8h5.2M3.6 3.6l1.6 1.6M12.4 3.6l-1.6 1.6M3.6 12.4l1.6-1.6M12.4 12.4l-1.6-1.6',
  sql: 'M2 3h12v10H2zM2 6.2h12M6.5 6.2V13',
  server: 'M1.5 8h3l2-5 3 10 2-5h3',
  time: 'M8 14.2A6.2 6.2 0 1 0 2.6 5M2 2v3.4h3.4M8 4.6V8l2.6 1.6',
  restore: 'M8 2.5v8M4.5 7 8 10.5 11.5 7M3 13.5h10',
  create: 'M8 2.5v11M2.5 8h11',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  star: 'm8 1.8 1.9 4 4.3.5-3.2 3 .9 4.3L8 11.4l-3.9 2.2.9-4.3-3.2-3 4.3-.5z',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  expand: 'M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9',
  chevron: 'M6 3.5 10.5 8 6 12.5',
  columns: 'M2 3h12v10H2zM6 3v10M10 3v10',
  menu: 'M2 4h12M2 8h12M2 12h12',
  theme: 'M8 14A6 6 0 1 0 8 2zM8 2a6 6 0 0 0 0 12',
  warning: 'M8 2 14.5 13.5h-13zM8 6.3v3.4M8 11.7h.01',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  bookmark: 'M4 2h8v12l-4-3-4 3z',
  link: 'M6 4H3v9h9v-3M8.5 2.5h5v5M13.5 2.5 7.5 8.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  eye: 'M1.5 8C4 3.3 12 3.3 14.5 8 12 12.7 4 12.7 1.5 8zM8 10a2 2 0 1 0-.01 0',
} as const;

export type IconName = keyof typeof shapes;

/** A drawing beside a text, or in a button that has a label. */
export function Icon({ name, isFull = false }: { readonly name: IconName; readonly isFull?: boolean }) {
  return (
    <svg class={isFull ? 'icon full' : 'icon'} viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
