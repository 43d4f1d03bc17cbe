import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Changelog' }),
  title: () => 'Changelog',
  View: ({ data }) => <h1>{data.name}</h1>,
})
