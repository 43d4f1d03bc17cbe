import { definePage } from '../ports.ts'

export const page = definePage({
  load: () => ({ name: 'Verify' }),
  title: () => 'Verify',
  View: ({ data }) => <h1>{data.name}</h1>,
})
