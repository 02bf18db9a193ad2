// SPDX-License-Identifier: Apache-2.0
// decode_wav: decodes the samples of a WAV file (RIFF).
//
//   audio s = decode_wav(bytes).value();                       // s.samples: float32[16000,2]; s.rate: 16000
//   result<audio> second = decode_wav(bytes, {.channels = 1, .samples = 16000});
//
// Shape:  float32[samples, channels], in [-1, 1): PCM of up to 8, 16, 24 and 32 bits is divided by 2^7, 2^15, 2^23 and
//         2^31 (in 8 bits, 128 is zero; fewer bits are the upper ones); A-law and µ-law are expanded to 16 bits;
//         floating-point numbers of 32 and 64 bits stay as they are. RIFF, RIFX (big-endian), and RF64 (BW64), whose
//         sizes have 64 bits. In a stream, whose header has the size 0 or 0xffffffff (SoX: 0x7ffff000), the samples
//         end with the bytes.
// Errors: data_loss: truncated, or sizes that contradict each other. invalid_argument: not WAV; other formats (ADPCM …)
//         and numbers of bits. resource_exhausted: a result above `bytes_max`, before anything is allocated.
// Equal:  to tf.audio.decode_wav (which only reads 16 bits), to the bit (tests/golden/README.md).
// Thread: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

struct wav_options {
  int channels = 0;          ///< 0: as in the file; fewer: the first ones; more: the last one is repeated
  std::int64_t samples = 0;  ///< 0: as in the file; fewer: the first ones; more: zeros follow
  std::size_t bytes_max = std::size_t{1} << 30;  ///< of the result
};

struct audio {
  tensor samples;         ///< float32[samples, channels]
  std::int64_t rate = 0;  ///< samples per second
};

result<audio> decode_wav(std::string_view encoded, const wav_options& options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::audio;
using lib::decode_wav;

}  // namespace sluice
