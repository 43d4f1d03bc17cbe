import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Marketplace' }),
  title: () => 'Marketplace',
  View: ({ data }) => <h1>{data.name}</h1>,
})
