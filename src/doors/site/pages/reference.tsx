import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'API reference' }),
  title: () => 'API reference',
  View: ({ data }) => <h1>{data.name}</h1>,
})
