import { definePage } from '../ports.ts'

export const page = definePage({
  load: ({ params }) => ({ name: params['name'] ?? '' }),
  title: () => 'Tool',
  View: ({ data }) => <h1>{data.name}</h1>,
})
