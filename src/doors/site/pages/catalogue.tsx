import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Catalogue' }),
  title: () => 'Catalogue',
  View: ({ data }) => <h1>{data.name}</h1>,
})
