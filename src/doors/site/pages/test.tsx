import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Test' }),
  title: () => 'Test',
  View: ({ data }) => <h1>{data.name}</h1>,
})
