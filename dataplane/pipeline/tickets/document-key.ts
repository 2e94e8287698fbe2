/** Names a document of the search store, in tables by document. */
export const documentKey = ({ index, id }: { readonly index: string; readonly id: string }): string => `${index}/${id}`
