import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Status' }),
  title: () => 'Status',
  View: ({ data }) => <h1>{data.name}</h1>,
})
