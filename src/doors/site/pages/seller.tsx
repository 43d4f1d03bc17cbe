import { definePage } from '../ports.ts'

export const page = definePage({
  load: ({ params }) => ({ name: params['seller'] ?? '' }),
  title: () => 'Seller',
  View: ({ data }) => <h1>{data.name}</h1>,
})
