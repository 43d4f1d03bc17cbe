import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Documentation' }),
  title: () => 'Documentation',
  View: ({ data }) => <h1>{data.name}</h1>,
})
