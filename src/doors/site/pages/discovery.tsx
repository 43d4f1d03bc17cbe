import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Discovery' }),
  title: () => 'Discovery',
  View: ({ data }) => <h1>{data.name}</h1>,
})
