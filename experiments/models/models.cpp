#include "models.h"

#include "recipes.h"

namespace models {

const std::vector<Recipe>& recipes() {
  using enum Weights;
  static const std::vector<Recipe> kRecipes = {
      {"quickstart", "parallel convolutions, linear attention, LoRA: small, and rules pay", kRandom, quickstart},
      {"squeezenet", "SqueezeNet 1.1, 224 x 224", kFilled, squeezenet},
      {"resnet18", "ResNet-18 with batch normalisation, 224 x 224", kFilled, resnet18},
      {"resnet50", "ResNet-50 with batch normalisation, 224 x 224", kFilled, resnet50},
      {"resnext50", "ResNeXt-50 (32 x 4d) with batch normalisation, 224 x 224", kFilled, resnext50},
      {"inception_v3", "Inception-v3 with batch normalisation, 299 x 299", kFilled, inception_v3},
      {"mobilenet_v2", "MobileNetV2 with batch normalisation, 224 x 224", kFilled, mobilenet_v2},
      {"cifar_resnet18", "ResNet-18 for CIFAR-10, 32 x 32", kRandom, cifar_resnet18},
      {"cifar_vgg16", "VGG-16 with batch normalisation for CIFAR-10, 32 x 32", kRandom, cifar_vgg16},
      {"cifar_mobilenet_v1", "MobileNet for CIFAR-10, 32 x 32", kRandom, cifar_mobilenet_v1},
      {"cifar_mobilenet_v2", "MobileNetV2 for CIFAR-10, 32 x 32", kRandom, cifar_mobilenet_v2},
      {"nasnet_a", "NASNet-A (4 @ 1056), normalisation folded, 224 x 224", kFilled, nasnet_a},
      {"repvgg", "RepVGG in its training form, 64 x 64", kRandom, repvgg},
      {"acnet", "ACNet in its training form, 64 x 64", kRandom, acnet},
      {"nasrnn", "NasRNN cell, 5 steps of hidden size 256", kFilled, nas_rnn},
      {"bert_layer", "one encoder layer of BERT base, 128 tokens", kFilled, bert_layer},
      {"bert_layer_256", "one encoder layer of BERT base, 256 tokens", kFilled, bert_layer_256},
      {"bert", "eight encoder layers of BERT base, 128 tokens", kFilled, bert},
      {"llama", "one LLaMA block of width 512, 128 tokens", kFilled, llama},
      {"lora", "an encoder layer of width 512 with LoRA adapters, 128 tokens", kFilled, lora},
      {"linear_attention", "two layers of linear attention of width 256, 512 tokens", kFilled, linear_attention},
      {"fire_modules", "four fire modules, 56 x 56", kFilled, fire_modules},
      {"shared_recurrence", "four steps of a recurrence that read one input of size 512", kFilled, shared_recurrence},
      {"plain_encoder", "four encoder layers of width 512 without softmax, 64 tokens", kFilled, plain_encoder},
      {"pooled_branches", "three blocks of branches with pools, 35 x 35", kFilled, pooled_branches},
      {"grouped_blocks", "four residual blocks of 32 groups, 28 x 28", kFilled, grouped_blocks},
  };
  return kRecipes;
}

std::string build(const Recipe& recipe, Weights weights) {
  ModelBuilder builder(recipe.name, weights, recipe.summary);
  return recipe.build(builder);
}

}  // namespace models
