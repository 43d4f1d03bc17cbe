import { definePage } from '../ports.ts'

export const page = definePage({
  load: ({ params }) => ({ name: params['service_id'] ?? '' }),
  title: () => 'Service',
  View: ({ data }) => <h1>{data.name}</h1>,
})
