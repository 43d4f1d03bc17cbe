import { definePage } from '../ports.ts'

export const page = definePage({
  load: ({ params }) => ({ name: params['receipt_id'] ?? '' }),
  title: () => 'Receipt',
  View: ({ data }) => <h1>{data.name}</h1>,
})
