// One function a model; models.cpp lists them.
#pragma once

#include <string>

#include "model_builder.h"

namespace models {

// convolutional.cpp
std::string squeezenet(ModelBuilder& m);
std::string resnet18(ModelBuilder& m);
std::string resnet50(ModelBuilder& m);
std::string resnext50(ModelBuilder& m);
std::string mobilenet_v2(ModelBuilder& m);
std::string cifar_resnet18(ModelBuilder& m);
std::string cifar_vgg16(ModelBuilder& m);
std::string cifar_mobilenet_v1(ModelBuilder& m);
std::string cifar_mobilenet_v2(ModelBuilder& m);

// inception.cpp, nasnet.cpp
std::string inception_v3(ModelBuilder& m);
std::string nasnet_a(ModelBuilder& m);

// branches.cpp
std::string quickstart(ModelBuilder& m);
std::string repvgg(ModelBuilder& m);
std::string acnet(ModelBuilder& m);

// sequences.cpp
std::string nas_rnn(ModelBuilder& m);
std::string bert_layer(ModelBuilder& m);
std::string bert_layer_256(ModelBuilder& m);
std::string bert(ModelBuilder& m);
std::string llama(ModelBuilder& m);
std::string lora(ModelBuilder& m);
std::string linear_attention(ModelBuilder& m);

// forms.cpp
std::string fire_modules(ModelBuilder& m);
std::string shared_recurrence(ModelBuilder& m);
std::string plain_encoder(ModelBuilder& m);
std::string pooled_branches(ModelBuilder& m);
std::string grouped_blocks(ModelBuilder& m);

}  // namespace models
