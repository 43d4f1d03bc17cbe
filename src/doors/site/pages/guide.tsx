import { definePage } from '../ports.ts'

export const page = definePage({
  load: ({ params }) => ({ name: params['guide'] ?? '' }),
  title: () => 'Guide',
  View: ({ data }) => <h1>{data.name}</h1>,
})
