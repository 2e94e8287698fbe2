export { compress as pack, decompress as unpack } from '../../../compression/zstd.ts'
